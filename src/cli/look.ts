import { UnavailableError } from "../domain/errors.ts";
import type { RestClient } from "./rest-client.ts";

const AGAIN_MS = 1_000;
/** Longer than a control plane takes to be replaced, or a proxy to notice. In ms. */
const PATIENCE_MS = 120_000;

/** Reads what is watched. What is watched goes on without the server that was asked: nobody there is waited for, for a while. */
export async function look<T>(client: Pick<RestClient, "get">, path: string, tell: (line: string) => void): Promise<T> {
  const since = Date.now();
  for (let told = ""; ; ) {
    try {
      return await client.get<T>(path);
    } catch (error) {
      if (!(error instanceof UnavailableError) || Date.now() - since > PATIENCE_MS) throw error;
      if (told !== error.message) tell(`${error.message}; it is asked again`);
      told = error.message;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
