import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";

/**
 * Loaded before a control plane process that is to believe that it runs in a pod. The files of the pod's service account are read from a
 * directory that each process is given, instead of the one place that all processes of a machine share.
 */
const directory = process.env["ARGOSY_E2E_SERVICE_ACCOUNT"] ?? "";
const IN_A_POD = "/var/run/secrets/kubernetes.io/serviceaccount";

if (directory !== "") {
  const moved = (file: unknown): unknown =>
    typeof file === "string" && file.startsWith(IN_A_POD) ? `${directory}${file.slice(IN_A_POD.length)}` : file;
  const { readFileSync } = fs;
  const { readFile } = fs.promises;
  fs.readFileSync = ((file: unknown, ...rest: unknown[]) => readFileSync(moved(file) as string, ...(rest as []))) as typeof readFileSync;
  fs.promises.readFile = ((file: unknown, ...rest: unknown[]) => readFile(moved(file) as string, ...(rest as []))) as typeof readFile;
  syncBuiltinESMExports();
}
