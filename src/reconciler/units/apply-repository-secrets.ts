import { StaleError } from "../../domain/errors.ts";
import {
  chosenCredentials,
  REPOSITORY_PURPOSE,
  type RepositoryCredential,
  readRepositorySecret,
} from "../../domain/repository-credential.ts";
import { unitFence } from "../../shard/application-placement.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import type { RepositorySecretKey } from "../../shard/names.ts";
import { environmentCredentials, renderRepository, spelledCredentials, superfluousRepositories } from "../../shard/render-repository.ts";
import { allOrFirstFailure, type ObjectWriter, type Settlement } from "../apply-object.ts";
import { isLeavingEnvironments, type PlacedUnit, placementOf } from "../find-hosts.ts";
import { type TroubleCause, waits } from "../trouble.ts";
import { type ReadCredentialDeps, readCredential } from "./read-credential.ts";

/** The Secrets by which an instance reads a unit's private repositories. */
export interface RepositorySecrets {
  /**
   * Makes a unit's Secrets those of its rows. Where the unit has no environment any more, those for environments stay until no Application
   * reads by them, as far as their credentials are still there. Returns what has to end before that is so, and which credentials cannot be
   * read: what stands of these stays as it is.
   */
  apply(placed: PlacedUnit, signal: AbortSignal): Promise<TroubleCause>;
  /** Removes all of them. */
  remove(placed: PlacedUnit, signal: AbortSignal): Promise<void>;
}

export interface RepositorySecretsDeps extends ReadCredentialDeps {
  readonly writer: ObjectWriter;
}

type Spelled = RepositoryCredential & Pick<RepositorySecretKey, "spelling" | "isForEnvironments">;

interface Rendered {
  readonly credential: Spelled;
  /** Absent: what is stored cannot be read. */
  readonly desired: DesiredObject | undefined;
}

const NAME = "repository";

export function createRepositorySecrets(deps: RepositorySecretsDeps): RepositorySecrets {
  const { writer } = deps;

  const render = async (placed: PlacedUnit, credential: Spelled, signal: AbortSignal): Promise<Rendered> => {
    const key = { id: credential.credentialId, owner: credential.workspaceId, purpose: REPOSITORY_PURPOSE };
    const parse = (text: string | undefined) => {
      if (text !== undefined) return readRepositorySecret(text);
      // Rows and secret go in one transaction: the row that was read is not there any more.
      const context = { unit: placed.row.unit.id, credential: credential.id };
      throw new StaleError("reading a repository's secret that was revoked meanwhile", { code: "reconciler.secret-revoked", context });
    };
    const secret = await readCredential(deps, key, parse, signal);
    return { credential, desired: secret && renderRepository(placementOf(placed), credential, secret) };
  };

  const removeAllBut = (
    { row, host }: PlacedUnit,
    wanted: readonly Spelled[],
    signal: AbortSignal,
  ): readonly Promise<Settlement<ObservedObject>>[] => {
    const objects = host.engine.repositories;
    return superfluousRepositories(objects.list(host.instance.namespace), row.unit.id, wanted).map(({ at }) =>
      writer.remove({ objects, at, name: NAME, fence: unitFence(row.unit) }, signal),
    );
  };

  return {
    async apply(placed, signal) {
      const { repositoryCredentials, repoUrls, environmentRepoUrls } = placed.row;
      const spelled: readonly Spelled[] = spelledCredentials(chosenCredentials(repositoryCredentials), repoUrls);
      const chosen = [...spelled, ...environmentCredentials(spelled, environmentRepoUrls)];
      const kept = isLeavingEnvironments(placed) ? [...chosen, ...spelled.map((one) => ({ ...one, isForEnvironments: true }))] : chosen;
      const rendered = await Promise.all(chosen.map((credential) => render(placed, credential, signal)));
      const objects = placed.host.engine.repositories;
      const ends = await allOrFirstFailure([
        ...rendered.flatMap(({ desired }) => (desired === undefined ? [] : writer.put({ objects, desired, name: NAME }, signal))),
        ...removeAllBut(placed, kept, signal),
      ]);
      return {
        waits: ends.some((end) => end.kind === "await-end") ? [waits.going("a former repository Secret")] : [],
        missingPrerequisites: rendered.flatMap(({ credential: { url, urlKey, isForEnvironments }, desired }) =>
          desired === undefined && isForEnvironments !== true ? [{ kind: "repository" as const, url, urlKey }] : [],
        ),
      };
    },
    async remove(placed, signal) {
      await allOrFirstFailure(removeAllBut(placed, [], signal));
    },
  };
}
