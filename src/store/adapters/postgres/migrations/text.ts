/**
 * Column type of ids and keys: compared byte by byte, so that the database sorts them as JavaScript does and batches that are
 * sorted here are locked in that very order there, whatever the database's own collation is.
 */
export const KEY = 'text collate "C"';
