/** A word of our own that gave way to one of the field's: how it is told from honest uses of the same letters, and what is said instead. */
export interface RetiredWord {
  readonly word: string;
  readonly say: string;
  /** Its forms, in lower case, as they stand alone or as a part of a name: `lookAtOnce` has the part `look`. */
  readonly forms: readonly string[];
  /** Where the same letters mean what everybody takes them for. Matched against what stands around them in the text, in lower case. */
  readonly honest?: RegExp;
}

const retired = (word: string, say: string, forms: string, honest?: RegExp): RetiredWord => ({
  word,
  say,
  forms: forms.split(" "),
  ...(honest === undefined ? {} : { honest }),
});

/** Words that code, columns, metrics, logs, messages and docs have given up. */
const RETIRED_WORDS: readonly RetiredWord[] = [
  retired(
    "room",
    "module",
    "room rooms",
    /room (?:for|to|left|is|as|under|only|after)|(?:makes?|leaves?|ha[sd]|have|no|more|the|enough|their|its|of|with|without|is|find) room\b|headroom/,
  ),
  retired("floor", "layer", "floors", undefined),
  retired("door", "controller", "door doors"),
  retired("desk", "plan execution, or the request it takes", "desk desks"),
  retired(
    "look",
    "observe, observation, probe, refresh",
    "look looks looked looking",
    // Also what two messages of the users' API say.
    /look(?:s|ed|ing)?[- ]?(?:ups?\b|like|for|back|after|filtered|just like)|lookup|lookbehind|lookahead|being looked at|minutes: look /,
  ),
  retired("sight", "observation", "sight sights sighting sightings", /sight of/),
  retired("wish", "desired, request, constraint", "wish wishes wished"),
  retired("seat", "candidate; placement", "seat seats seated seating"),
  retired("told", "notified, reported", "told", /told (?:apart|from)|be told at the moment|told to end|told by their content|story told/),
  retired("news", "notification", "news"),
  retired("hint", "notification", "hint hints hinted"),
  retired("brake", "blocked by, budget", "brake brakes"),
  retired("ground", "prerequisites", "ground grounds groundwork", /background|foreground|in the ground|underground/),
  retired("lack", "missing prerequisite", "lack lacks lacking"),
  retired(
    "home",
    "own namespace",
    "home homes",
    /homepage|\$home|~|["'`/-]home["'`/]|\/home\/|home\/|-home\b|_home\b|\.home\.arpa|home:|home director|homebrew|env\.home|\bhome=|xdg|home-?made|gitenvironment|(?:options|exchange)\.home/,
  ),
  retired("abroad", "remote cluster", "abroad"),
  retired("lane", "in-flight window", "lane lanes"),
  retired("patience", "timeout, deadline", "patience patient patiently", /outpatient/),
  retired("razing", "teardown, cleanup", "raze razes razed razing"),
  retired(
    "register",
    "owner binding",
    "register registers",
    /register(?:ed|ing|node|sdk)|registry|register\(check|\.register\(|register: (?:new|async)/,
  ),
  retired("bundle", "affinity group", "bundle bundles", /ca[- ]?bundle|bundled?\b.*certificate|certificate.*bundle/),
  retired("stray", "orphan, leftover", "stray strays"),
];

/** The words of a text as names are made of them: `theSeat-of_a` gives the, seat, of, a, each with where it begins. */
const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g;
/** How much of the text around a word decides whether its use is honest. */
const AROUND = 24;

const byForm = new Map(RETIRED_WORDS.flatMap((each) => each.forms.map((form) => [form, each] as const)));

/** Files that have to name what was before: what changed, migrations, and their tests. */
const FORMER = /^(?:CHANGELOG\.md$|migrations\/|src\/store\/adapters\/postgres\/(?:migrate|rows-of-before)\.)/;
/** Where the words themselves are listed, and texts of others. */
const NOT_OUR_WORDS = /^(?:tools\/(?:measure|checks)\/|LICENSE|package-lock\.json|tools\/node\/)/;

/** Whether a file's words are ours, and of today. */
export function hasOurWords(path: string): boolean {
  return !FORMER.test(path) && !NOT_OUR_WORDS.test(path);
}

/** Every use of a retired word in a text, in the order in which they stand there. */
export function* retiredWordsIn(text: string): Generator<{ readonly retired: RetiredWord; readonly at: number }> {
  for (const match of text.matchAll(PART)) {
    const found = byForm.get(match[0].toLowerCase());
    if (found === undefined) continue;
    const around = text.slice(Math.max(0, match.index - AROUND), match.index + match[0].length + AROUND).toLowerCase();
    if (found.honest?.test(around) !== true) yield { retired: found, at: match.index };
  }
}
