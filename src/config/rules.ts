import { isLoopback } from "../runtime/is-loopback.ts";
import type { ConfigComplaint } from "./complaint.ts";
import { decodeEncryptionKey } from "./encryption-key.ts";
import type { ParsedConfig } from "./schema.ts";
import { whyNotVerifiedTls } from "./verified-tls.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What must hold between fields. Sections that did not parse are absent, and what depends on them is not judged. */
export function checkRules(config: Partial<ParsedConfig>, env: Env): readonly ConfigComplaint[] {
  return [
    ...authentication(config),
    ...database(config),
    ...checkDatabase(config.database, env),
    ...plainHttp(config),
    ...leases(config),
    ...accountTokens(config),
    ...shutdown(config),
    ...encryption(config, env),
  ];
}

/** A key that Argosy made for itself would be lost with the process's disk, and with it every credential in the database. */
const KEY_MISSING: ConfigComplaint = {
  path: "encryption.keys",
  message: "is missing, and credentials in a database of your own need a key that outlives this process",
  remedy:
    "Make one with `head -c 32 /dev/urandom | base64`, keep it in a file or a Secret, and name it: encryption: { keys: [{ id: first, file: /path }] }",
};

function database({ database: section }: Partial<ParsedConfig>): readonly ConfigComplaint[] {
  if (section?.migrate !== "by-command" || section.url !== undefined) return [];
  return [
    {
      path: "database.migrate",
      message: "leaves the embedded database without a schema: nobody else can reach it",
      remedy: "Give at-start, or a database of your own with database.url or DATABASE_URL",
    },
  ];
}

/** What must hold within the `database` section, which `argosy migrate` reads alone. */
export function checkDatabase(section: ParsedConfig["database"] | undefined, env: Env): readonly ConfigComplaint[] {
  return [...sameLogin(section), ...unverified(section, env)];
}

function sameLogin(section: ParsedConfig["database"] | undefined): readonly ConfigComplaint[] {
  const { controlPlane, api } = section?.grantTo ?? {};
  if (controlPlane === undefined || controlPlane !== api) return [];
  return [
    {
      path: "database.grantTo.api",
      message: "is the login of the other processes too",
      remedy: "Name another PostgreSQL role; a process of all roles connects as one that is a member of both",
    },
  ];
}

function unverified(section: ParsedConfig["database"] | undefined, env: Env): readonly ConfigComplaint[] {
  if (section?.requireVerifiedTls !== true) return [];
  if (section.url === undefined) {
    return [
      {
        path: "database.requireVerifiedTls",
        message: "cannot be met by the embedded database, which has no TLS",
        remedy: "Give a database of your own with database.url or DATABASE_URL, or leave it out",
      },
    ];
  }
  const why = whyNotVerifiedTls(section.url);
  if (why === undefined) return [];
  return [
    {
      path: env["DATABASE_URL"] === section.url ? "DATABASE_URL" : "database.url",
      message: `${why}, and database.requireVerifiedTls asks for a server whose certificate is verified`,
      remedy: "End it with ?sslmode=verify-full, and with &sslrootcert=/path/to/authority.crt where no public authority has signed",
    },
  ];
}

/** Tokens in plain HTTP are everybody's who is on the way. */
function plainHttp({ listen, roles }: Partial<ParsedConfig>): readonly ConfigComplaint[] {
  if (listen === undefined || roles === undefined || listen.tls !== undefined || listen.allowPlainHttp || isLoopback(listen.host))
    return [];
  if (roles !== "all" && !roles.includes("all") && !roles.includes("api")) return [];
  return [
    {
      path: "listen.tls",
      message: `is missing, and at ${listen.host} tokens would pass in plain text`,
      remedy:
        "Give it a certificate, listen on 127.0.0.1, or say listen.allowPlainHttp: true where a proxy in the same pod speaks TLS for it",
    },
  ];
}

/** What a process needs after its last request to leave in order. In ms. */
const LEAVING_MS = 5_000;

function shutdown({ shutdown: section }: Partial<ParsedConfig>): readonly ConfigComplaint[] {
  if (section === undefined || section.delayMs === 0 || section.delayMs + LEAVING_MS <= section.graceMs) return [];
  return [
    {
      path: "shutdown.delayMs",
      message: "leaves no time to end what is under way",
      remedy: `Give at least ${LEAVING_MS} less than shutdown.graceMs, which is ${section.graceMs}, or 0`,
    },
  ];
}

function authentication({ authentication: section }: Partial<ParsedConfig>): readonly ConfigComplaint[] {
  const { issuers = [], kubernetes } = section ?? {};
  const complaints = issuers.flatMap(({ alias, issuer, roles }, index) => [
    ...doubles("alias", index, issuers.map((one) => one.alias).indexOf(alias)),
    ...doubles("issuer", index, issuers.map((one) => one.issuer).indexOf(issuer)),
    ...nobody(roles, `authentication.issuers[${index}].roles`),
  ]);
  return [...complaints, ...nobody(kubernetes?.roles ?? [], "authentication.kubernetes.roles")];
}

function doubles(field: string, index: number, first: number): readonly ConfigComplaint[] {
  if (first === index) return [];
  const path = `authentication.issuers[${index}].${field}`;
  return [
    {
      path,
      message: `is that of authentication.issuers[${first}] too`,
      remedy: `Give every issuer ${field === "alias" ? "an alias" : "an address"} of its own`,
    },
  ];
}

function nobody(
  roles: readonly { readonly groups?: readonly string[] | undefined; readonly names?: readonly string[] | undefined }[],
  path: string,
): readonly ConfigComplaint[] {
  return roles.flatMap(({ groups, names }, index) =>
    groups === undefined && names === undefined
      ? [{ path: `${path}[${index}]`, message: "gives a role to nobody", remedy: "Name groups, or names, or both" }]
      : [],
  );
}

function leases({ leases: section }: Partial<ParsedConfig>): readonly ConfigComplaint[] {
  if (section === undefined || section.renewMs * 2 <= section.ttlMs) return [];
  return [
    {
      path: "leases.renewMs",
      message: "leaves no room for one lost renewal",
      remedy: `Give at most half of leases.ttlMs, which is ${section.ttlMs}`,
    },
  ];
}

function accountTokens({ accountTokens: section }: Partial<ParsedConfig>): readonly ConfigComplaint[] {
  if (section === undefined || section.renewAfterMs * 3 <= section.lifeMs * 2) return [];
  return [
    {
      path: "accountTokens.renewAfterMs",
      message: "leaves too little time for attempts that fail",
      remedy: `Give at most two thirds of accountTokens.lifeMs, which is ${section.lifeMs}`,
    },
  ];
}

function encryption(config: Partial<ParsedConfig>, env: Env): readonly ConfigComplaint[] {
  const section = config.encryption;
  if (section === undefined) return "encryption" in config && config.database?.url !== undefined ? [KEY_MISSING] : [];
  const ids = section.keys.map((key) => key.id);
  const complaints: ConfigComplaint[] = section.keys.flatMap((key, index) => keyComplaints(key, `encryption.keys[${index}]`, env));
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) !== index)
      complaints.push({
        path: `encryption.keys[${index}].id`,
        message: "is the id of an earlier key too",
        remedy: "Give every key an id of its own",
      });
  }
  if (section.current !== undefined && !ids.includes(section.current)) {
    complaints.push({
      path: "encryption.current",
      message: "is the id of no key in encryption.keys",
      remedy: `Give one of ${[...new Set(ids)].join(", ")}`,
    });
  }
  return complaints;
}

function keyComplaints(key: NonNullable<ParsedConfig["encryption"]>["keys"][number], path: string, env: Env): readonly ConfigComplaint[] {
  const places = [key.file, key.env, key.vault].filter((place) => place !== undefined);
  if (places.length !== 1) {
    return [
      {
        path,
        message: places.length === 0 ? "names no place to read the key from" : "names several places to read the key from",
        remedy: "Give one of file, env and vault",
      },
    ];
  }
  if (key.vault !== undefined && (key.vault.tokenFile === undefined) === (key.vault.kubernetes === undefined)) {
    return [
      {
        path: `${path}.vault`,
        message: key.vault.tokenFile === undefined ? "says nothing of who asks" : "says twice who asks",
        remedy: "Give either tokenFile or kubernetes",
      },
    ];
  }
  if (key.env === undefined) return [];
  const text = env[key.env];
  if (text === undefined || text === "")
    return [{ path: `${path}.env`, message: "is the name of a variable that is not set", remedy: `Set ${key.env} to 32 bytes in base64` }];
  if (decodeEncryptionKey(text) === undefined)
    return [{ path: key.env, message: "is not 32 bytes in base64", remedy: "Make one with: head -c 32 /dev/urandom | base64" }];
  return [];
}
