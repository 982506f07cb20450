/**
 * Flags of Node.js for the processes of Argosy: `serve` in the image, of `npm run up`, of end-to-end tests and of benches.
 *
 * `--max-semi-space-size`, in MiB, is how large the space of young objects grows. Node.js 24 lets each half grow to 16 MiB and 64 bit machines
 * keep what was touched. At rest what a control plane allocates dies within milliseconds, so the space is only memory held: with 2 MiB one process
 * with 200 applications kept 173 MiB in place of 275 MiB, with the same CPU. Programs that allocate heavily, such as tests and the simulation,
 * would be slower with it, so it is no setting of the environment that children take over.
 */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=2"];
