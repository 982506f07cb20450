import { StaleError } from "../../domain/errors.ts";
import {
  chosenCredentials,
  REPOSITORY_PURPOSE,
  type RepositoryCredential,
  readRepositorySecret,
} from "../../domain/repository-credential.ts";
import { diffObject, planRemoval } from "../../shard/diff-object.ts";
import type { Lack } from "../../shard/lack.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import { renderRepository, superfluousRepositories } from "../../shard/render-repository.ts";
import type { Seat } from "../../shard/seat.ts";
import { unitFence } from "../../shard/seat.ts";
import type { CredentialStore } from "../../store/credential/port.ts";
import type { DesiredUnit } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { createCredentialReader } from "../credentials/controller.ts";
import type { Carrier, Settlement } from "../object/controller.ts";
import { allOrFirstFailure } from "../object/controller.ts";
import { waits } from "../progress/reasons.ts";
import type { Host } from "../seats/controller.ts";

/** The Secrets by which an instance reads the private repositories of the units it holds. */
export interface RepositoriesController {
  /**
   * Makes a unit's Secrets those of its rows. Returns what has to end before that is so, and which credentials cannot be read: what stands
   * of these stays as it is.
   */
  align(seat: Seat, row: DesiredUnit, host: Host, signal: AbortSignal): Promise<Alignment>;
  /** Removes all of them. */
  clear(seat: Seat, host: Host, signal: AbortSignal): Promise<void>;
}

/** How far a part of what a unit needs has come. */
export interface Alignment {
  /** What it waits for, for people; empty: it stands, but for what it lacks. */
  readonly waits: readonly string[];
  readonly lacks: readonly Lack[];
}

export interface RepositoriesDeps {
  readonly credentials: Pick<CredentialStore, "read">;
  readonly carrier: Carrier;
  readonly log: Log;
}

interface Choice {
  readonly credential: RepositoryCredential;
  /** Absent: what is stored cannot be read. */
  readonly desired: DesiredObject | undefined;
}

export function createRepositoriesController(deps: RepositoriesDeps): RepositoriesController {
  const { carrier } = deps;
  const reader = createCredentialReader(deps);

  const render = async (seat: Seat, credential: RepositoryCredential, signal: AbortSignal): Promise<Choice> => {
    const key = { id: credential.credentialId, owner: credential.workspaceId, purpose: REPOSITORY_PURPOSE };
    const parse = (text: string | undefined) => {
      if (text !== undefined) return readRepositorySecret(text);
      // Rows and secret go in one transaction: the row that was read is not there any more.
      const context = { unit: seat.unit.id, credential: credential.id };
      throw new StaleError("reading a repository's secret that was revoked meanwhile", { code: "reconciler.secret-revoked", context });
    };
    const secret = await reader.read(key, parse, signal);
    return { credential, desired: secret && renderRepository(seat, credential, secret) };
  };

  const listed = (host: Host): readonly ObservedObject[] => host.engine.repositories.list(host.instance.namespace);

  const put = (host: Host, desired: DesiredObject, signal: AbortSignal): Promise<Settlement<ObservedObject>> =>
    carrier.carryOut(
      { objects: host.engine.repositories, at: desired.at, plan: (observed) => diffObject(desired, observed), name: "repository" },
      signal,
    );

  /** Only what these rows, or older ones, had put there. */
  const remove = (seat: Seat, host: Host, { at }: ObservedObject, signal: AbortSignal): Promise<Settlement<ObservedObject>> => {
    const plan = (observed: ObservedObject | undefined) => planRemoval(observed, unitFence(seat.unit));
    return carrier.carryOut({ objects: host.engine.repositories, at, plan, name: "repository" }, signal);
  };

  const superfluous = (seat: Seat, host: Host, wanted: readonly RepositoryCredential[]): readonly ObservedObject[] =>
    superfluousRepositories(listed(host), seat.unit.id, wanted);

  return {
    async align(seat, row, host, signal) {
      const chosen = chosenCredentials(row.repositoryCredentials);
      const choices = await Promise.all(chosen.map((credential) => render(seat, credential, signal)));
      const ends = await allOrFirstFailure([
        ...choices.flatMap(({ desired }) => (desired === undefined ? [] : put(host, desired, signal))),
        ...superfluous(seat, host, chosen).map((each) => remove(seat, host, each, signal)),
      ]);
      return {
        waits: ends.some((end) => end.kind === "await-end") ? [waits.going("a former repository Secret")] : [],
        lacks: choices.flatMap(({ credential: { url, urlKey }, desired }) =>
          desired === undefined ? [{ kind: "repository" as const, url, urlKey }] : [],
        ),
      };
    },
    async clear(seat, host, signal) {
      await allOrFirstFailure(superfluous(seat, host, []).map((each) => remove(seat, host, each, signal)));
    },
  };
}
