import type { Answer } from "../../../runtime/kube/testing/resource-api.ts";
import { type PushStream, unreachable } from "../../world/network.ts";
import type { SimulatedLink } from "./link.ts";

/** How late one line of a watch arrives at most, in ms: each watch has its own share of it. */
const LINE_LAG_MS = 60;

/**
 * Lines of one watch as its reader gets them: late and in order. Once the two were parted none comes any more: the connection turns out
 * to be broken when the next line should come, unless the reader's own watchdog finds it silent before.
 */
export async function* openWatch(
  link: SimulatedLink,
  answer: Extract<Answer, { readonly kind: "watch" }>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { network, party, server } = link;
  const inbox: (string | Error | undefined)[] = [];
  let wake: (() => void) | undefined;
  let isClosed = false;
  let onGone = (): void => undefined;
  const put = (item: string | Error | undefined): void => {
    inbox.push(item);
    wake?.();
  };
  const close = (): void => {
    if (!isClosed) onGone();
    isClosed = true;
  };
  const broken = unreachable(`Watching ${server.name}`, "kube.unreachable");
  const onCut = (): void => {
    close();
    party.reach("a broken watch", () => put(broken("reset")));
  };
  const stream: PushStream = { from: server.name, to: party, what: "a line", lagMs: LINE_LAG_MS * party.rng.next(), lastAt: 0, onCut };
  const push = (item: string | Error | undefined): void => {
    if (!isClosed) network.push(stream, () => put(item));
  };
  answer.attach({
    write: push,
    end: () => push(undefined),
    reset: () => push(broken("reset")),
    onClose(gone) {
      onGone = gone;
    },
  });
  const forget = party.onEnd(close);
  const onAbort = (): void => put(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      if (inbox.length === 0) {
        const arrival = Promise.withResolvers<void>();
        wake = arrival.resolve;
        await arrival.promise;
      }
      const item = inbox.shift();
      if (item === undefined) return;
      if (typeof item !== "string") throw item;
      yield item;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    forget();
    close();
  }
}
