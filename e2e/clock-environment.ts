const VARIABLE = "ARGOSY_E2E_CLOCK";

/** The environment of a Node process whose wall clock is set to what `file` says, on SIGUSR2. */
export function clockEnvironment(file: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: file, NODE_OPTIONS: `--import=${new URL("./adjustable-clock.ts", import.meta.url).href}` };
}
