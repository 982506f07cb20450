/** A secret of a run: what it is, and the texts by which it is recognised. */
export interface Secret {
  readonly what: string;
  readonly words: readonly string[];
}

export interface SecretInventory {
  /** Throws if the value is too short to be recognised in other text. */
  keep(what: string, value: string): void;
  all(): readonly Secret[];
  /** What was registered, to be passed to another process. */
  kept(): readonly (readonly [what: string, value: string])[];
}

/** Shorter ones occur in other text by chance. */
const SHORTEST = 12;

/** Every secret that a run creates, in one place: at the end none of them may have been written anywhere. */
export function createSecretInventory(): SecretInventory {
  const secrets = new Map<string, Secret>();
  return {
    keep(what, value) {
      if (value.length < SHORTEST) throw new Error(`${what} has less than ${SHORTEST} characters, which may stand anywhere`);
      secrets.set(value, { what, words: wordsOf(value) });
    },
    all: () => [...secrets.values()],
    kept: () => [...secrets].map(([value, { what }]) => [what, value] as const),
  };
}

/** One line of a key is enough to recognise it, and the only part that survives every form of line ends. */
function wordsOf(value: string): readonly string[] {
  if (!value.includes("\n")) return [value];
  return value.split("\n").filter((line) => line.length >= 32 && !line.startsWith("-----"));
}

/** A place where something that a run produced can be read. */
export interface Product {
  readonly where: string;
  readonly text: string;
}

/**
 * Which secrets occur where: as they are, in base64 at any offset, in hexadecimal, or as part of a URL. The values
 * are not printed.
 */
export function findSecrets(secrets: readonly Secret[], products: readonly Product[]): readonly string[] {
  const forms = secrets.flatMap(({ what, words }) => words.flatMap((word) => formsOf(word).map((form) => ({ what, form }))));
  const found = products.flatMap(({ where, text }) =>
    forms.filter(({ form }) => text.includes(form)).map(({ what }) => `${what} in ${where}`),
  );
  return [...new Set(found)].sort();
}

function formsOf(word: string): readonly string[] {
  return [
    ...new Set([word, encodeURIComponent(word), Buffer.from(word).toString("hex"), ...[0, 1, 2].map((offset) => base64Of(word, offset))]),
  ];
}

/** The part of a text's base64 that does not depend on the text around it, when that many bytes modulo three come before it. */
function base64Of(word: string, offset: number): string {
  const whole = Buffer.from("\0".repeat(offset) + word);
  const known = whole.subarray(0, whole.length - (whole.length % 3)).toString("base64");
  return known.slice(offset === 0 ? 0 : 4);
}
