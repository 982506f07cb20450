import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../domain/errors.ts";
import { TOKEN_ROLES, type TokenRole } from "../store/token/port.ts";
import { applyFleet, parseFleetText } from "./apply.ts";
import { type ConnectionOptions, DEFAULT_STATE, findConnection } from "./connection.ts";
import { runDoctor } from "./doctor.ts";
import { explainWorkspace } from "./explain.ts";
import { describeResource, getResources, RESOURCES, type Resource } from "./get.ts";
import { renderInstall } from "./install/render.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "./output.ts";
import { createRestClient, type RestClient } from "./rest-client.ts";
import { runServe } from "./serve.ts";
import type { Terminal } from "./terminal.ts";
import { createToken } from "./token.ts";

interface Shared extends ConnectionOptions {
  readonly output: OutputFormat;
}

/** The command line. Commands throw; the entry turns what they throw into one line on stderr and exit code 1. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("argosy").description("Control plane for a fleet of Argo CD instances").version(terminal.version);
  program.configureHelp({ sortSubcommands: true, showGlobalOptions: true });
  addLooking(program, terminal);
  addChanging(program, terminal);
  addRunning(program, terminal);
  return program;
}

function addLooking(program: Command, terminal: Terminal): void {
  remote(program.command("get <resource>"))
    .description(`list ${RESOURCES.join(", ")}`)
    .option("-n, --namespace <namespace>", "only this workspace")
    .addOption(new Option("--op-state <state>", "only operations in this state").choices(["Waiting", "In_Progress", "Completed", "Failed"]))
    .action(async (resource: string, options: Shared & { readonly namespace?: string; readonly opState?: string }) => {
      const { output, namespace, opState } = options;
      const text = await getResources(client(options, terminal), resourceOf(resource), {
        output,
        ...(namespace === undefined ? {} : { namespace }),
        ...(opState === undefined ? {} : { state: opState }),
      });
      terminal.write(text);
    });
  remote(program.command("describe <resource> <name>"), "yaml")
    .description("everything known of one instance, workspace, application (namespace/name) or operation")
    .action(async (resource: string, name: string, options: Shared) => {
      const text = await describeResource(client(options, terminal), resourceOf(resource), name, options.output);
      if (text !== undefined) return terminal.write(text);
      throw new InputError(`there is no ${resource} ${name}`, {
        code: "cli.not-found",
        path: "name",
        remedy: `argosy get ${resource} lists them`,
      });
    });
  remote(program.command("explain <workspace>"))
    .description("why a workspace lives where it does")
    .action(async (workspace: string, options: Shared) =>
      terminal.write(await explainWorkspace(client(options, terminal), workspace, options.output)),
    );
  remote(program.command("doctor"))
    .description("check database, clusters, versions, permissions and instances; exit code 1 if anything is wrong")
    .action(async (options: Shared) => {
      const { text, isHealthy } = await runDoctor(client(options, terminal), options.output);
      terminal.write(text);
      if (!isHealthy) terminal.setExitCode(1);
    });
}

function addChanging(program: Command, terminal: Terminal): void {
  remote(program.command("apply"))
    .description("declare the fleet")
    .requiredOption("-f, --file <file>", "fleet.yaml, or - for standard input")
    .option("--dry-run", "only check the document and say whether it would change anything", false)
    .action(async (options: Shared & { readonly file: string; readonly dryRun: boolean }) => {
      const document = parseFleetText(readText(options.file), options.file);
      terminal.write(await applyFleet(client(options, terminal), document, options));
    });
}

function addRunning(program: Command, terminal: Terminal): void {
  program
    .command("serve")
    .description("run the control plane")
    .requiredOption("-c, --config <file>", "configuration file (YAML); docs/configuration.md lists the fields")
    .option("--roles <roles>", "comma-separated subset of workspace,scheduler,reconciler,provisioner,health,api, or all")
    .action((options: { readonly config: string; readonly roles?: string }) =>
      runServe({ ...options, text: readText(options.config) }, terminal),
    );
  program
    .command("manifests")
    .description("print the CRDs, namespaces and roles an administrator installs")
    .addOption(new Option("--for <cluster>", "which part the cluster plays").choices(["api", "engine", "both"]).default("both"))
    .action((options: { readonly for: "api" | "engine" | "both" }) => terminal.write(renderInstall(options.for)));
  const token = program.command("token").description("tokens of the REST API");
  token
    .command("create <name>")
    .description("make a token and print it once; replaces the one of that name")
    .option("--role <role>", TOKEN_ROLES.join(", "), roleOf, "viewer" as TokenRole)
    .option("--database <url>", "connection string; default: DATABASE_URL")
    .action(async (name: string, options: { readonly role: TokenRole; readonly database?: string }) =>
      terminal.write(await createToken({ name, ...options }, terminal.env)),
    );
  program
    .command("version")
    .description("version of this program")
    .action(() => terminal.write(terminal.version));
}

function remote(command: Command, output: OutputFormat = "table"): Command {
  return command
    .addOption(new Option("-o, --output <format>", "how to print").choices(OUTPUT_FORMATS).default(output))
    .option("--state <dir>", `directory of a fleet started with \`npm run up\` (default: ${DEFAULT_STATE})`)
    .option("--url <url>", "REST API; default: ARGOSY_URL")
    .option("--token <token>", "default: ARGOSY_TOKEN");
}

function client(options: ConnectionOptions, terminal: Terminal): RestClient {
  return createRestClient(findConnection(options, terminal.env));
}

/** Singular, plural and the usual short forms. */
const ALIASES: Readonly<Record<string, Resource>> = {
  instance: "instances",
  inst: "instances",
  workspace: "workspaces",
  ws: "workspaces",
  application: "applications",
  app: "applications",
  apps: "applications",
  operation: "operations",
  ops: "operations",
};

function resourceOf(text: string): Resource {
  const resource = RESOURCES.find((name) => name === text) ?? ALIASES[text];
  if (resource !== undefined) return resource;
  throw new InputError(`unknown resource ${text}`, {
    code: "cli.resource",
    path: "resource",
    remedy: `Use one of ${RESOURCES.join(", ")}`,
  });
}

function roleOf(text: string): TokenRole {
  const role = TOKEN_ROLES.find((name) => name === text);
  if (role === undefined) throw new InvalidArgumentError(`use one of ${TOKEN_ROLES.join(", ")}`);
  return role;
}

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (cause) {
    throw new InputError(`${file} cannot be read`, {
      code: "cli.unreadable",
      path: file,
      remedy: "Name a file that exists and that you may read",
      cause,
    });
  }
}
