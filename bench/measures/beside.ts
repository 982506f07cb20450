import { setTimeout as sleep } from "node:timers/promises";
import { type Deployment, isThere, type Users } from "../world/users.ts";

const PAUSE_MS = 30;

export interface Creation {
  /** Until the API server accepted the user's resource. No manager can change this part. */
  readonly takenMs: number;
  readonly presentMs: number;
}

/** Creates one deployment of a user, and waits until its Application exists. */
export async function createOurs(users: Users, namespace: string, made: Deployment[]): Promise<Creation> {
  const deployment = users.next(namespace);
  made.push(deployment);
  const startedAt = performance.now();
  await users.create(deployment);
  const takenMs = performance.now() - startedAt;
  return { takenMs, presentMs: (await users.applications.until(deployment.path, isThere)) - startedAt };
}

/** Creates one after the other until the burst is over. */
export async function createUntil(burst: Promise<unknown>, create: () => Promise<Creation>): Promise<readonly Creation[]> {
  let isOver = false;
  const ending = burst.then(() => {
    isOver = true;
  });
  // Awaited together, so that no failure goes unnoticed.
  const [samples] = await Promise.all([createWhile(create, () => !isOver), ending]);
  return samples;
}

/** Creates one after the other, at least one, with a pause before each. */
export async function createWhile(create: () => Promise<Creation>, goesOn: (count: number) => boolean): Promise<readonly Creation[]> {
  const samples: Creation[] = [];
  do {
    await sleep(PAUSE_MS);
    samples.push(await create());
  } while (goesOn(samples.length));
  return samples;
}
