import process from "node:process";

/** What generated tests start from: `ARGOSY_FUZZ_SEED`, or another one each time, said so that it can be repeated. */
export function fuzzSeed(suite: string): number {
  const given = process.env["ARGOSY_FUZZ_SEED"];
  const seed = given === undefined ? Date.now() % 2 ** 31 : Number(given);
  process.stdout.write(`${suite}: ARGOSY_FUZZ_SEED=${seed} repeats it\n`);
  return seed;
}
