/**
 * Flags of Node.js for the processes of Argosy: `serve` in the image, of `npm run up`, of end-to-end tests and of benches.
 *
 * `--max-semi-space-size`, in MiB, is how large the space of young objects grows. Node.js 24 lets each half grow to 16 MiB and 64 bit machines
 * keep what was touched. At rest what a control plane allocates dies within milliseconds, so a large space is only memory held; a small one is collected often, and
 * what a collection finds alive by chance is kept much longer. With 200 applications on 50 instances 8 MiB took 0.030 cores and 241 MiB at rest, 2 MiB took
 * 0.035 and 254 (means of two runs each), and without a limit 200 applications once took 100 MiB more than with 2. Programs that allocate heavily, such as
 * tests and the simulation, would be slower with it, so it is no setting of the environment that children take over.
 */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=8"];
