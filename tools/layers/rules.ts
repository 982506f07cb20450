import type { IRegularForbiddenRuleType } from "dependency-cruiser";
import { CORE, STEP, TEST } from "../core-files.ts";
import { ADDRESSES } from "./addresses.ts";

type From = NonNullable<IRegularForbiddenRuleType["from"]>;
type To = NonNullable<IRegularForbiddenRuleType["to"]>;

const TOP = "^src/(main\\.ts$|(main|cli)/)";
const PACKAGES = "(^|/)node_modules/";

/** A controller, or a step of one. */
const LOOP = ["/controller\\.ts$", STEP];
/** What is no module with controllers of its own: there a verb in front of a name says nothing. */
const LIBRARY = [TOP, "^src/(runtime|telemetry|simulation|config|api)/"];

const packagePath = (name: string): string => `${PACKAGES}(@types/)?${name}/`;
const production = (path: string | string[], butNot: readonly string[] = []): From => ({ path, pathNot: [TEST, ...butNot] });
const rule = (name: string, from: From, to: To, comment: string): IRegularForbiddenRuleType => ({
  name,
  severity: "error",
  from,
  to,
  comment,
});

const between: readonly IRegularForbiddenRuleType[] = [
  rule("no-cycles", {}, { circular: true }, "files that import each other are one file, or need a third"),
  rule("nothing-unresolved", {}, { couldNotResolve: true }, "the file or package is not there"),
  rule(
    "domain-stands-alone",
    production("^src/domain/"),
    { pathNot: "^src/domain/|^(node:)?crypto$" },
    "domain/ imports nothing outside domain/",
  ),
  rule(
    "core-stays-in-its-module",
    production(CORE),
    { path: "^src/", pathNot: "^src/($1|domain|shard)/" },
    "core files import their own module and domain/",
  ),
  rule(
    "only-the-reconciler-knows-shards",
    production("^src/", [TOP, "^src/(shard|reconciler|mover|simulation)/"]),
    { path: "^src/shard/" },
    "shard/ has nothing but core, and reconciler/ and mover/ act on it: these are one role, so this module alone is entered without a port",
  ),
  rule(
    "core-knows-no-controllers",
    production(CORE),
    { path: ["/adapters/|/(port|controller)\\.ts$", STEP] },
    "a controller or one of its steps reads through ports and hands core the values",
  ),
  rule("core-imports-no-node", production(CORE, ["^src/domain/hash\\.ts$"]), { dependencyTypes: ["core"] }, "core files are pure"),
  rule(
    "core-imports-no-packages",
    production(CORE, ["/schema\\.ts$", "^src/scheduler/hash-ring\\.ts$", "/kubernetes-types\\.ts$"]),
    { path: PACKAGES },
    "core files import no package but zod in schema.ts, the ring in hash-ring.ts and types in kubernetes-types.ts",
  ),
  rule(
    "ports-know-the-domain",
    production("^src/([^/]+)(/|/.+/)port\\.ts$", ["^src/api/"]),
    { pathNot: "^src/(domain|shard)/|^src/$1(/|/.+/)port\\.ts$" },
    "a port names domain types only",
  ),
  rule(
    "ports-import-types",
    production("/(port|kubernetes-types)\\.ts$"),
    { dependencyTypesNot: ["type-only"] },
    "a port holds types, and so does kubernetes-types.ts: write `import type`",
  ),
  rule(
    "modules-meet-at-ports",
    production("^src/([^/]+)/", [TOP, "^src/simulation/"]),
    { path: "^src/[^/]+/", pathNot: "^src/($1|domain|shard|runtime|telemetry)/|/port\\.ts$" },
    "a module is entered by its port.ts",
  ),
  rule(
    "controllers-use-the-toolkit",
    production(LOOP, LIBRARY),
    { path: PACKAGES, dependencyTypesNot: ["type-only"] },
    "a controller reaches packages through ports and runtime/",
  ),
  rule(
    "controllers-import-no-node",
    production(LOOP, LIBRARY),
    { dependencyTypes: ["core"] },
    "a controller reaches the machine through ports and runtime/",
  ),
  rule(
    "controllers-are-started-at-the-top",
    production("^src/([^/]+)", [TOP, "^src/simulation/"]),
    { path: "/controller\\.ts$", pathNot: "^src/$1/" },
    "main.ts and cli/ start controllers",
  ),
  rule(
    "adapters-are-chosen-at-the-top",
    production("^src/", [TOP, "/adapters/", "^src/simulation/"]),
    { path: "/adapters/" },
    "main.ts and cli/ choose adapters; everybody else knows the port",
  ),
  rule(
    "adapters-keep-to-themselves",
    production("^src/(.+/adapters/[^/]+)/"),
    { path: "/adapters/", pathNot: "^src/$1/" },
    "what two adapters share belongs to core or runtime/",
  ),
  rule(
    "toolkit-knows-no-fleet",
    production("^src/(runtime|telemetry)/"),
    { path: "^src/", pathNot: "^src/(runtime|telemetry)/|^src/domain/(errors|clock|rng|hash|ids|brand|partition)\\.ts$" },
    "runtime/ and telemetry/ know no word of the domain",
  ),
  rule(
    "nothing-imports-the-top",
    production("^src/", [TOP, "^src/config(/|\\.ts$)"]),
    { path: "^src/((main|config)\\.ts$|(main|config|cli)/)" },
    "main.ts, the configuration and cli/ are the top",
  ),
  rule(
    "production-never-simulates",
    production("^src/", ["^src/simulation/"]),
    { path: "^src/simulation/" },
    "the simulation is started by its own program; what runs in production never imports it",
  ),
  rule(
    "production-needs-no-tests",
    production("^src/", ["^src/simulation/"]),
    { path: TEST },
    "tests and folders called testing/ are for tests",
  ),
  rule(
    "src-stands-on-its-own",
    production("^src/"),
    { path: "^(hack|e2e|bench|tools)/" },
    "hack/, e2e/, bench/ and tools/ import src/, never the other way",
  ),
];

const addresses: readonly IRegularForbiddenRuleType[] = Object.entries(ADDRESSES).map(([name, address]) =>
  rule(`${name}-has-one-address`, production("^src/", [address]), { path: packagePath(name) }, `only ${address} may import ${name}`),
);

const unaddressed = rule(
  "packages-have-an-address",
  production("^src/"),
  { path: PACKAGES, pathNot: Object.keys(ADDRESSES).map(packagePath), dependencyTypesNot: ["type-only"] },
  "give the package a line in tools/layers/addresses.ts and docs/dependencies.md",
);

/** Who may import whom, as rules of dependency-cruiser. CONTRIBUTING.md draws the picture. */
export const LAYERS: readonly IRegularForbiddenRuleType[] = [...between, ...addresses, unaddressed];
