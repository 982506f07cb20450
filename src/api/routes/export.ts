import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { ApplicationId } from "../../domain/ids.ts";
import { findWorkspace } from "../find.ts";
import type { ApiDeps } from "../port.ts";

const PAGE = 500;
const deadline = () => AbortSignal.timeout(30_000);

const exportView = z
  .object({
    namespace: z.string(),
    objects: z.array(z.record(z.string(), z.unknown())).describe("AppProjects, then Applications"),
    leftOut: z.array(z.object({ application: z.string(), reason: z.string() })),
    needs: z.array(z.object({ kind: z.enum(["cluster", "repository"]), url: z.string() })).describe("what the Argo CD is given by hand"),
  })
  .meta({ id: "WorkspaceExport" });
export type ExportView = z.infer<typeof exportView>;

/** A name that a namespace can have. */
const namespaceName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "is no name of a namespace");

/** What an ordinary Argo CD takes over. */
export function addExportView(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/workspaces/:workspace/export",
    {
      schema: {
        operationId: "exportWorkspace",
        summary: "A workspace's applications as an ordinary Argo CD takes them",
        security: [{ token: [] }],
        params: z.object({ workspace: z.string().max(253) }),
        querystring: z.strictObject({
          into: namespaceName.default("argocd").describe("namespace of the Argo CD that takes them"),
          server: z.url().max(2000).optional().describe("URL by which it addresses the API cluster; absent: as instances do"),
        }),
        response: { 200: exportView },
      },
    },
    async ({ params, query }) => readExport(deps, params.workspace, { namespace: query.into, server: query.server }),
  );
}

async function readExport(
  deps: ApiDeps,
  namespace: string,
  taker: { readonly namespace: string; readonly server: string | undefined },
): Promise<ExportView> {
  const { store } = deps;
  const { workspace, units } = await findWorkspace(deps, namespace, deadline());
  const rows = await store.shards.readApplications(await applicationsOf(deps, namespace), deadline());
  // Every unit of a workspace lists all of its credentials.
  const [first] = units;
  const unit = first === undefined ? undefined : await store.shards.readUnit(first.id, deadline());
  const own = rows.filter((row) => row.workspace.id === workspace.id);
  const { objects, leftOut, needs } = deps.exportWorkspace({ workspace, rows: own, credentials: unit?.repositoryCredentials ?? [] }, taker);
  return { namespace, objects: objects.map((object) => ({ ...object })), leftOut: [...leftOut], needs: [...needs] };
}

async function applicationsOf({ store }: ApiDeps, namespace: string): Promise<readonly ApplicationId[]> {
  const ids: ApplicationId[] = [];
  for (let after = ""; ; after = ids.at(-1) ?? "") {
    const found = await store.operations.listApplications({ namespace }, { limit: PAGE, after }, deadline());
    ids.push(...found.map(({ application }) => application.id));
    if (found.length < PAGE) return ids;
  }
}
