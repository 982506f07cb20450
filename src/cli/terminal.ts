import { constants } from "node:os";

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Somebody asked the process to end. */
export class Interruption extends Error {
  /** As a shell has it for a program that this signal ended. */
  readonly exitCode: number;

  constructor(name: Signal) {
    super(`${name}: what is done stays done; the same command goes on from there`);
    this.exitCode = 128 + constants.signals[name];
  }
}

/** What a command ends with that was interrupted, as a shell has it: 130 after SIGINT, 143 after SIGTERM. */
export function interruptedCode({ reason }: AbortSignal): number {
  return reason instanceof Interruption ? reason.exitCode : 128 + constants.signals.SIGINT;
}

/** What commands need from the process they run in. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** What was asked for, on standard output. */
  write(text: string): void;
  /** What a person should know beside it, on standard error. */
  note(text: string): void;
  setExitCode(code: number): void;
  /** Aborts when somebody asks the process to end: whoever calls this ends it in order, where it would have ended at once. The reason is an `Interruption`. */
  interrupted(): AbortSignal;
}
