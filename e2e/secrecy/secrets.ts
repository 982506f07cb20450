/** A secret of a run: what it is, and the words by which it would be known. */
export interface Secret {
  readonly what: string;
  readonly words: readonly string[];
}

export interface SecretInventory {
  /** Throws where the value is too short to be told from other text. */
  keep(what: string, value: string): void;
  all(): readonly Secret[];
  /** What was kept, to be handed to another process. */
  kept(): readonly (readonly [what: string, value: string])[];
}

/** Shorter ones stand in other text by chance. */
const SHORTEST = 12;

/** Every secret that a run makes, in one place: at its end nobody may have said one of them. */
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

/** A line of a key is enough to know it by, and the only thing that survives every way of writing line ends. */
function wordsOf(value: string): readonly string[] {
  if (!value.includes("\n")) return [value];
  return value.split("\n").filter((line) => line.length >= 32 && !line.startsWith("-----"));
}

/** A place where something a run produced can be read. */
export interface Product {
  readonly where: string;
  readonly text: string;
}

/** Which secrets stand where, as themselves, in base64 at any offset, in hexadecimal, or as part of a URL. The values are not told. */
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

/** The part of a text's base64 that is the same whatever stands around it, when that many bytes modulo three stand before it. */
function base64Of(word: string, offset: number): string {
  const whole = Buffer.from("\0".repeat(offset) + word);
  const known = whole.subarray(0, whole.length - (whole.length % 3)).toString("base64");
  return known.slice(offset === 0 ? 0 : 4);
}
