import type { ShownServer } from "../../domain/shown-server.ts";

/** What gave servers away that no user may deploy to: whoever starts while one of them is away knows it from here. */
export interface ReservedServerStore {
  read(server: string, signal: AbortSignal): Promise<ShownServer | undefined>;
  /** Keeps what it showed instead of what was kept of it before. */
  keep(shown: ShownServer, signal: AbortSignal): Promise<void>;
}
