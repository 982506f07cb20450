/** What holds up a change of a deployment, as its operation says it for SREs, and what its user reads of that. */
const REPORTED: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [/^Waiting: for environment (\S+), which is not connected/, ([, name]) => `It waits for environment ${name}: see the status of that`],
  [
    /^Waiting: for the credential of repository (\S+), which cannot be read/,
    ([, url]) =>
      `The credential of ${url} cannot be used at the moment. It is tried again; if it lasts, give its Secret anew, or tell your administrator`,
  ],
  [/^Waiting: for repository \S+, which the workspace/, () => "It waits until its repository was seen to be readable"],
  [/^Waiting: for other applications of the workspace/, () => "Other deployments of this namespace go first, and it follows by itself"],
  [/^Waiting: for the sync under way/, () => "The sync under way is stopped first, and it follows by itself"],
  [/^Refused: /, () => "It was not accepted where it is to run, and that does not pass by itself: tell your administrator"],
  [/^Waiting: /, () => "What it needs is being prepared: it goes on by itself"],
];

const OTHERWISE =
  "Something that it needs does not answer at the moment. It is tried again by itself; if it lasts, tell your administrator";

/** Says it without a word of how the fleet is made. What is not known is not quoted. */
export function troubleText(trouble: string): string {
  for (const [said, tell] of REPORTED) {
    const found = said.exec(trouble);
    if (found !== null) return tell(found);
  }
  return OTHERWISE;
}
