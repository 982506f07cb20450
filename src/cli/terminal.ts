/** What commands need from the process they run in. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** What was asked for, on standard output. */
  write(text: string): void;
  /** What a person should know beside it, on standard error. */
  note(text: string): void;
  setExitCode(code: number): void;
  /** Aborts when somebody asks the process to end: whoever calls this ends it in order, where it would have ended at once. */
  interrupted(): AbortSignal;
}
