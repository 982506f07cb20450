import process from "node:process";

/** One request often comes more than once: from the terminal, from npm and from whoever passes it on. */
const SAME_REQUEST_MS = 2_000;

/** What shells report for a program that Ctrl-C ended. */
export const CANCELLED = 130;

/** Aborts when somebody asks this process to end, which then ends what it started; a second request ends it at once. */
export function endRequests(): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const heard = (): void => {
    firstAt ??= performance.now();
    if (performance.now() - firstAt > SAME_REQUEST_MS) process.exit(CANCELLED);
    controller.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, heard);
  return controller.signal;
}
