/** Finds names that no user may read, however many there are, in time that grows with the text. */
export interface HiddenNames {
  readonly names: ReadonlySet<string>;
  /** Longest first. */
  readonly lengths: readonly number[];
}

const indexes = new WeakMap<readonly string[], HiddenNames>();

/** Made once for each list, which changes with the fleet only. */
function indexOf(hidden: readonly string[]): HiddenNames {
  const known = indexes.get(hidden);
  if (known !== undefined) return known;
  const lengths = [...new Set(hidden.map(({ length }) => length))].filter((length) => length > 0).sort((a, b) => b - a);
  const index = { names: new Set(hidden), lengths };
  indexes.set(hidden, index);
  return index;
}

/** The text with each of the names replaced where it stands as a word of its own; of two at one place the longer one. */
export function withoutNames(text: string, hidden: readonly string[], silence: string): string {
  const { names, lengths } = indexOf(hidden);
  if (names.size === 0) return text;
  const parts: string[] = [];
  let kept = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (isWordCharacter(text, at - 1)) continue;
    const length = lengths.find((each) => !isWordCharacter(text, at + each) && names.has(text.slice(at, at + each)));
    if (length === undefined) continue;
    parts.push(text.slice(kept, at), silence);
    kept = at + length;
    at = kept - 1;
  }
  return kept === 0 ? text : [...parts, text.slice(kept)].join("");
}

function isWordCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
