import { UnavailableError } from "../../domain/errors.ts";

/**
 * Longest line taken, in UTF-16 units. etcd refuses objects over 1.5 MiB; conversion and managed fields can multiply that a few
 * times. Beyond it the other side is not an API server, and its stream must not fill our memory.
 */
const longestLine = 32 * 1024 * 1024;

export interface LineSplitter {
  /** Complete, non-empty lines that this chunk finished. */
  push(chunk: string): readonly string[];
  /** What came after the last line break, or `undefined` if nothing did. */
  rest(): string | undefined;
}

/** Puts lines together from chunks that break anywhere. Line breaks are LF; a CR before it is dropped. */
export function createLineSplitter(longest: number = longestLine): LineSplitter {
  let carry = "";
  return {
    push(chunk) {
      const parts = (carry + chunk).split("\n");
      carry = parts.pop() ?? "";
      if (carry.length > longest)
        throw new UnavailableError("Splitting a stream into lines", { code: "kube.line-too-long", context: { longest } });
      return parts.map(withoutCarriageReturn).filter((line) => line !== "");
    },
    rest: () => (carry === "" ? undefined : carry),
  };
}

function withoutCarriageReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
