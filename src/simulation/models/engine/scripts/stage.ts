import type { EngineApplication } from "../application.ts";

/** What an Application is made with beside its source. */
export interface Making {
  readonly isAutomated?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly status?: EngineApplication["status"];
}

/**
 * What a script is played on: one controller of Argo CD with one Application of one folder, a cluster it deploys to and somebody who does
 * things to it. There are two: the simulation's model on a simulated clock, and a real controller.
 */
export interface Stage {
  make(making: Making): Promise<void>;
  /** A merge patch of the Application. */
  patch(patch: object): Promise<void>;
  remove(): Promise<void>;
  /** What the folder holds from now on: names of objects, with their content. Each is a wave of its own, in this order. */
  push(files: Readonly<Record<string, string>>): Promise<void>;
  /** The folder's last commit. */
  head(): string;
  /** Takes the entry of the cluster from the instance, or gives it back. */
  setEntry(isThere: boolean): Promise<void>;
  /** Ends the controller in the middle of everything, and starts it again. */
  restart(): Promise<void>;
  read(): Promise<EngineApplication | undefined>;
  /** Somebody puts an object there that says it is the Application's, and that the folder does not hold. */
  plant(name: string): Promise<void>;
  /** Objects in the cluster by name, each with its version. */
  objects(): Promise<Readonly<Record<string, string>>>;
  /** Waits for a level. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** Gives the controller time in which it does whatever it is going to do. */
  idle(): Promise<void>;
}

/** Something done to a controller, and in words what came of it: states and their order, without times, ids and messages. */
export interface Script {
  readonly name: string;
  /** Whether the controller is ended in it, which every other Application of the instance feels. */
  readonly isRestarting: boolean;
  /** Whether it takes the cluster's entry away. */
  readonly usesEntry: boolean;
  play(stage: Stage): Promise<readonly string[]>;
}
