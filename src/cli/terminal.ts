/** What commands need from the process they run in. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  write(text: string): void;
  setExitCode(code: number): void;
}
