/**
 * Flags of Node.js for the processes of Argosy: `serve` in the image, of `npm run up`, of end-to-end tests and of benches.
 *
 * `--max-semi-space-size`, in MiB, is how large the space of young objects grows. Node.js 24 lets each half grow to 16 MiB and 64 bit machines
 * keep what was touched. At rest what a control plane allocates dies within milliseconds, so a large space is only memory held; a small one is collected often, and
 * what a collection finds alive by chance is kept much longer. With 200 applications on 50 instances 8 MiB took 0.030 cores and 241 MiB at rest, 2 MiB took
 * 0.035 and 254 (means of two runs each), and without a limit 200 applications once took 100 MiB more than with 2. Programs that allocate heavily, such as
 * tests and the simulation, would be slower with it, so it is no setting of the environment that children take over.
 *
 * `--heap-growing-percent` is by how much old objects may grow before they are collected. V8 by itself lets a heap of this size grow to several times what a
 * collection has left, and a control plane at rest allocates so little that the garbage of its start stays: of 216 MB that one of four processes had in use
 * with 6,000 applications, 121 were garbage, and 55 more outside of the heap. A start pays for a small value: all that is listed stays, and each collection
 * goes through it again. One process with 25,000 applications took 45 s of CPU in its first 75 s with 30, and 491 MiB at their end; 34 s and 516 MiB with 60;
 * 33 s and 617 MiB with 100, and 34 s and 603 MiB without the flag (one run each).
 *
 * `--expose-gc` lets the process itself collect what its start has left, once it is at rest (`collectAtRest`).
 */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=8", "--heap-growing-percent=60", "--expose-gc"];
