import { UnavailableError } from "../domain/errors.ts";
import type { RestClient } from "./rest-client.ts";

const AGAIN_MS = 1_000;
/** Longer than a control plane takes to be replaced, or a proxy to notice. In ms. */
const PATIENCE_MS = 120_000;

export interface LookOptions {
  tell(line: string): void;
  /** Nobody is asked again once it aborts. */
  readonly signal?: AbortSignal;
}

/** Reads what is watched. What is watched goes on without the server that was asked: nobody there is waited for, for a while. */
export async function look<T>(client: Pick<RestClient, "get">, path: string, { tell, signal }: LookOptions): Promise<T> {
  const since = Date.now();
  for (let told = ""; ; ) {
    try {
      return await client.get<T>(path);
    } catch (error) {
      const isOver = Date.now() - since > PATIENCE_MS || signal?.aborted === true;
      if (!(error instanceof UnavailableError) || isOver) throw error;
      if (told !== error.message) tell(`${error.message}; it is asked again`);
      told = error.message;
      await rest(AGAIN_MS, signal);
    }
  }
}

/** Waits so long, or until somebody is in a hurry. */
export function rest(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake, { once: true });
  });
}
