/** Superuser of the embedded server. */
export const DATABASE_USER = "argosy";

/**
 * The whole `postgresql.conf`; the port comes on the command line. Loopback TCP only and no unix socket: a socket's path may
 * be no longer than about 107 bytes, which a deep state directory exceeds, and its directory would have to be writable by
 * the server's user. Durability stays on: an evaluation may be the start of something kept.
 */
export const POSTGRESQL_CONF = `# Written by Argosy at each start: changes here are lost.
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
password_encryption = 'scram-sha-256'
ssl = off
shared_buffers = '128MB'
max_wal_size = '512MB'
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_destination = 'stderr'
logging_collector = off
log_min_messages = 'warning'
log_min_error_statement = 'panic'
log_line_prefix = '%m [%p] '
`;

/** The whole `pg_hba.conf`: loopback, by password, nothing else. */
export const PG_HBA_CONF = `# Written by Argosy at each start: changes here are lost.
host all all 127.0.0.1/32 scram-sha-256
`;

/** Arguments of `initdb`. Locale C sorts by bytes, the same on every machine, and needs no locale of the system. */
export function initdbArguments(dataDir: string, passwordFile: string): readonly string[] {
  return [
    `--pgdata=${dataDir}`,
    `--username=${DATABASE_USER}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--no-instructions",
  ];
}

/** Where clients connect: the maintenance database every cluster has. */
export function databaseUrl(port: number, password: string): string {
  return `postgres://${DATABASE_USER}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
}
