import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../../src/domain/errors.ts";
import { freePort, isFree } from "./ports.ts";

/**
 * How the connection between a party and the server is disturbed. `cut` resets its connections and every new one.
 * `refuse` stops listening as well. `silent` lets nothing through in either direction but keeps the connections; what
 * was sent meanwhile arrives after `restore`, like retransmitted packets. `delay` makes everything arrive that much
 * later. `mute` passes on what the party sends and loses every answer; `restore` resets those connections. `forget`
 * lets nothing through on the existing connections, for ever and without closing them, like a router that has lost
 * its state; new ones work.
 */
export type Fault =
  | { readonly kind: "cut" }
  | { readonly kind: "refuse" }
  | { readonly kind: "silent" }
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "mute" }
  | { readonly kind: "forget" };

/** One address per party in front of a server, so that the connections of each can be disturbed alone. */
export interface FaultProxy {
  /** Port on 127.0.0.1 for this party. It never changes. */
  portFor(party: string): Promise<number>;
  disturb(party: string, fault: Fault): Promise<void>;
  restore(party: string): Promise<void>;
  /**
   * Leads the party to another port of this machine, or to the server again (`undefined`). Resets its connections, so
   * that it makes new ones.
   */
  divert(party: string, port: number | undefined): Promise<void>;
  /** The party's own port of the connection that leaves this proxy from `port`. */
  originOf(port: number): Promise<number | undefined>;
  parties(): readonly string[];
  close(): Promise<void>;
}

interface Party {
  readonly port: number;
  fault: Fault | undefined;
  /** The port it is led to. */
  target: FaultProxyOptions["target"];
  readonly links: Set<Link>;
  /** Connections on which nothing gets through any more. */
  readonly forgotten: Set<Link>;
  server: Server | undefined;
}

/** The two ends of one connection. */
interface Link {
  readonly near: Socket;
  readonly far: Socket;
}

export interface FaultProxyOptions {
  readonly target: { readonly host: string; readonly port: number };
  /** File with the parties' ports, for programs that outlive this proxy. */
  readonly file?: string;
}

export function createFaultProxy(options: FaultProxyOptions): FaultProxy {
  const parties = new Map<string, Promise<Party>>();
  const remembered: Record<string, number> =
    options.file !== undefined && existsSync(options.file)
      ? (JSON.parse(readFileSync(options.file, "utf8")) as Record<string, number>)
      : {};

  const open = async (name: string): Promise<Party> => {
    const kept = remembered[name];
    const port = kept !== undefined && (await isFree(kept)) ? kept : await freePort();
    const party: Party = { port, target: options.target, fault: undefined, links: new Set(), forgotten: new Set(), server: undefined };
    await listen(party);
    remembered[name] = port;
    if (options.file !== undefined) writeFileSync(options.file, JSON.stringify(remembered));
    return party;
  };
  const partyOf = (name: string) => {
    const found = parties.get(name) ?? open(name);
    parties.set(name, found);
    return found;
  };
  return {
    portFor: async (name) => (await partyOf(name)).port,
    async disturb(name, fault) {
      const party = await partyOf(name);
      party.fault = fault;
      if (fault.kind === "cut" || fault.kind === "refuse") resetAll(party);
      if (fault.kind === "refuse") await unlisten(party);
      if (fault.kind === "forget") forgetAll(party);
      for (const link of party.links) flow(link, fault.kind !== "silent");
    },
    async restore(name) {
      const party = await partyOf(name);
      if (party.fault?.kind === "mute") resetAll(party);
      party.fault = undefined;
      if (party.server === undefined) await listen(party);
      for (const link of party.links) flow(link, true);
    },
    async divert(name, port) {
      const party = await partyOf(name);
      party.target = port === undefined ? options.target : { host: "127.0.0.1", port };
      resetAll(party);
    },
    async originOf(port) {
      const links = (await Promise.all(parties.values())).flatMap((party) => [...party.links]);
      return links.find(({ far }) => far.localPort === port)?.near.remotePort;
    },
    parties: () => [...parties.keys()],
    async close() {
      for (const party of await Promise.all(parties.values())) {
        resetAll(party);
        for (const { near } of party.forgotten) near.destroy();
        await unlisten(party);
      }
      parties.clear();
    },
  };
}

async function listen(party: Party): Promise<void> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => accept(party, near));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(new UnavailableError(`Listening on port ${party.port}`, { code: "dev.port-taken", cause })));
    server.listen({ host: "127.0.0.1", port: party.port, exclusive: true }, resolve);
  });
  party.server = server;
}

function accept(party: Party, near: Socket): void {
  if (party.fault?.kind === "cut") {
    near.resetAndDestroy();
    return;
  }
  const link = { near, far: connect({ ...party.target, allowHalfOpen: true, noDelay: true }) };
  party.links.add(link);
  join(party, link, [link.near, link.far]);
  join(party, link, [link.far, link.near]);
  if (party.fault?.kind === "silent") flow(link, false);
}

function join(party: Party, link: Link, [from, to]: readonly [Socket, Socket]): void {
  let arrival = Promise.resolve();
  // In the order in which they came, also when the delay changes in between.
  const send = (write: () => void) => {
    const ms = party.fault?.kind === "delay" ? party.fault.ms : 0;
    if (ms === 0 && to.writableLength === 0) arrival = arrival.then(write);
    else arrival = Promise.all([arrival, sleep(ms)]).then(write);
  };
  const isLost = () => from === link.far && party.fault?.kind === "mute";
  from.on("data", (chunk: Buffer) =>
    send(() => {
      if (isLost()) return;
      if (to.destroyed || to.write(chunk)) return;
      from.pause();
      to.once("drain", () => party.fault?.kind !== "silent" && from.resume());
    }),
  );
  from.on("end", () => send(() => to.end()));
  from.on("error", () => to.resetAndDestroy());
  from.on("close", () => {
    party.links.delete(link);
    if (party.forgotten.has(link) && from === link.far) return;
    party.forgotten.delete(link);
    send(() => to.destroy());
  });
}

/** A paused socket takes nothing from the kernel, whose buffer fills until the other side stops sending. */
function flow(link: Link, isOpen: boolean): void {
  for (const socket of [link.near, link.far]) {
    if (isOpen) socket.resume();
    else socket.pause();
  }
}

/** Closes the server's end, as the server would after a while. The party does not notice. */
function forgetAll(party: Party): void {
  for (const link of party.links) {
    party.forgotten.add(link);
    flow(link, false);
    link.far.destroy();
  }
  party.links.clear();
}

function resetAll(party: Party): void {
  for (const link of party.links) for (const socket of [link.near, link.far]) socket.resetAndDestroy();
  party.links.clear();
}

async function unlisten(party: Party): Promise<void> {
  const server = party.server;
  party.server = undefined;
  if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
}
