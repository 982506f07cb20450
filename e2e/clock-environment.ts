const VARIABLE = "ARGOSY_E2E_CLOCK";

/** Environment of a Node process whose wall clock is set by SIGUSR2 to what `file` says. */
export function clockEnvironment(file: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: file, NODE_OPTIONS: `--import=${new URL("./adjustable-clock.ts", import.meta.url).href}` };
}
