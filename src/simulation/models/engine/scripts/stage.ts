import type { EngineApplication } from "../application.ts";

/** What an Application is made with besides its source. */
export interface Making {
  readonly isAutomated?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly status?: EngineApplication["status"];
}

/**
 * What a script is played on: one controller of Argo CD with one Application of one folder, a cluster that it deploys to, and
 * the means to change them. There are two: the simulation's model on a simulated clock, and a real controller.
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
  /** Ends the controller without warning, and starts it again. */
  restart(): Promise<void>;
  read(): Promise<EngineApplication | undefined>;
  /** Creates an object with the Application's tracking id that the folder does not hold. */
  plant(name: string): Promise<void>;
  /** Objects in the cluster by name, each with its version. */
  objects(): Promise<Readonly<Record<string, string>>>;
  /** Waits for a level. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** Gives the controller time in which it does whatever it is going to do. */
  idle(): Promise<void>;
}

/** Something that is done to a controller. It returns in words what came of it: states and their order, without times, ids and messages. */
export interface Script {
  readonly name: string;
  /** Whether it restarts the controller, which affects every other Application of the instance. */
  readonly isRestarting: boolean;
  /** Whether it takes the cluster's entry away. */
  readonly usesEntry: boolean;
  play(stage: Stage): Promise<readonly string[]>;
}
