import { millis } from "../../../domain/clock.ts";
import type { UserSecret } from "../../../domain/user-resource.ts";
import { statusToWrite } from "../../repository-credential/credential-status.ts";
import type { InEffect } from "../../repository-credential/findings.ts";
import type { CredentialOutcome } from "../../repository-credential/outcome.ts";
import { planReview, type ReviewFacts } from "../../repository-credential/plan-review.ts";
import { aNamespace, aPolicy, aResource } from "../builders.ts";
import type { WordsCase } from "./case.ts";

const URL = "https://git.example/jane/guestbook";
const TYPE = "managed-gitops.redhat.com/repository-credential";
const BASIC = { username: Buffer.from("bot"), password: Buffer.from("a-password") };
const GOOD: UserSecret = { type: TYPE, data: BASIC };

interface Scene {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly secret?: UserSecret | undefined;
  readonly outcome?: CredentialOutcome;
  readonly inEffect?: InEffect;
  readonly isPaused?: boolean;
  readonly isAlone?: boolean;
}

const said =
  ({ spec = {}, outcome, inEffect, isPaused = false, isAlone = true, ...scene }: Scene = {}): WordsCase["said"] =>
  () => {
    const resource = aResource({ spec: { repository: URL, secret: "guestbook-repo", ...spec }, isPaused });
    const secret = "secret" in scene ? scene.secret : GOOD;
    const older = Array.from({ length: isAlone ? 0 : 100 }, (_, index) =>
      aResource({ uid: `older-${index}`, createdAt: "2025-01-01T00:00:00Z" }),
    );
    const rest = { namespace: aNamespace(), policy: aPolicy(), recorded: [], secretVersion: "1" };
    const facts: ReviewFacts = { ...rest, resource, siblings: [...older, resource], secret, lastObservation: undefined };
    const { wanted } = planReview(facts);
    const lastObservation = wanted === undefined || outcome === undefined ? undefined : { stamp: wanted.stamp, outcome };
    const plan = planReview({ ...facts, lastObservation });
    return statusToWrite(resource, { ...plan, inEffect: inEffect ?? plan.inEffect }, millis(0))?.conditions ?? [];
  };

const isCurrent = { isCurrent: true, supersededBy: undefined } as const;
const DELIVERED: InEffect = { ...isCurrent, delivery: "delivered" };
const ok = said({ outcome: "readable", inEffect: DELIVERED });
const denied = said({ outcome: "denied" });
const missing = said({ outcome: "not-found" });
const INVALID_TYPE =
  "Secret has an invalid type, must be managed-gitops.redhat.com/repository-credential (or kubernetes.io/basic-auth, kubernetes.io/ssh-auth)";
const INVALID = `Repository Credentials provided guestbook-repo for Repository ${URL} are invalid`;

type Row = readonly [condition: string, message: string, compared: WordsCase["compared"], why: string, said: WordsCase["said"]];
const rows: readonly Row[] = [
  ["ErrorOccurred=False/RepositoryCredentialUpToDate", "RepositoryCredentials are Valid", "same", "", ok],
  ["ValidRepositoryURL=True/ValidRepositoryUrl", `Repository ${URL} exists`, "same", "", ok],
  [
    "ValidRepositoryCredential=True/RepositoryCredentialUpToDate",
    `Repository Credentials provided guestbook-repo for Repository ${URL} are valid`,
    "same",
    "",
    ok,
  ],
  ["ErrorOccurred=True/InvalidCredentials", INVALID, "better", "only when the login is refused", denied],
  ["ValidRepositoryURL=True/ValidRepositoryUrl", `Repository ${URL} exists`, "same", "", denied],
  ["ValidRepositoryCredential=False/InvalidCredentials", INVALID, "same", "", denied],
  ["ErrorOccurred=True/InvalidRepositoryUrl", `Repository does not exist: ${URL}`, "same", "", missing],
  ["ValidRepositoryURL=False/InvalidRepositoryUrl", `Repository does not exist: ${URL}`, "same", "", missing],
  ["ValidRepositoryCredential=False/InvalidRepositoryUrl", `Repository does not exist: ${URL}`, "same", "", missing],
  ["ErrorOccurred=True/SecretNotSpecified", "Secret field is missing value", "same", "", said({ spec: { secret: "" } })],
  [
    "ErrorOccurred=True/SecretNotFound",
    "Secret specified not found",
    "better",
    "users saw `SecretInvalidType`",
    said({ secret: undefined }),
  ],
  [
    "ErrorOccurred=True/SecretInvalidType",
    INVALID_TYPE,
    "better",
    "more types are taken",
    said({ secret: { type: "Opaque", data: BASIC } }),
  ],
  [
    "ErrorOccurred=True/SecretIncomplete",
    "The Secret needs the keys username and password, or bearerToken, to read a repository over HTTPS: each one line of text",
    "better",
    "was `InvalidCredentials`",
    said({ secret: { type: TYPE, data: {} } }),
  ],
  [
    "ErrorOccurred=True/RepositoryUnreachable",
    `The host of ${URL} does not answer as a Git host does; it is tried again`,
    "better",
    "was `InvalidCredentials`",
    said({ outcome: "unreachable" }),
  ],
  [
    "ErrorOccurred=True/RepositoryIdentityUnknown",
    `The host of ${URL} cannot show to be itself: its certificate or host key is not known here; ask your administrator to add it; it is tried again`,
    "better",
    "was `InvalidCredentials`",
    said({ outcome: "unknown-identity" }),
  ],
  [
    "ErrorOccurred=True/ValidationFailed",
    `It could not be found out whether ${URL} can be read; it is tried again`,
    "better",
    "was `InvalidCredentials`",
    said({ outcome: "failed" }),
  ],
  ["ErrorOccurred=Unknown/ValidationPending", "The repository is being looked at", "new", "", said()],
  [
    "ErrorOccurred=True/DuplicateRepository",
    "The GitOpsDeploymentRepositoryCredential older is for the same repository and older: it is used instead of this one",
    "new",
    "",
    said({ outcome: "readable", inEffect: { ...DELIVERED, supersededBy: "older" } }),
  ],
  [
    "ErrorOccurred=True/QuotaExceeded",
    "This namespace may have at most 100 repository credentials: delete another one",
    "new",
    "",
    said({ isAlone: false }),
  ],
  [
    "Reconciling=True/WaitingForCapacity",
    "There is no room for this namespace at the moment: the credential is used as soon as there is",
    "new",
    "",
    said({ outcome: "readable", inEffect: { ...DELIVERED, delivery: "unplaced" } }),
  ],
  [
    "Reconciling=True/Reconciling",
    "The credential is on its way to where it is used",
    "new",
    "",
    said({ outcome: "readable", inEffect: { ...DELIVERED, delivery: "under-way" } }),
  ],
  ["Paused=True/Paused", 'Changes are not acted on while the annotation argosy.dev/paused is "true"', "new", "", said({ isPaused: true })],
];

export const credentialWords: readonly WordsCase[] = rows.map(([condition, message, compared, why, each]) => ({
  ...{ kind: "credential", condition, message, compared, why, said: each },
}));
