// Imported first by a process that is to take the processors which others leave, with all that it starts.
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/** A tenth of what others get where all of them want more than there is. */
const NICE = 10;

setPriority(NICE);
try {
  // Where Linux shares processors out by session first, niceness only counts within one: this process leads its own.
  writeFileSync("/proc/self/autogroup", String(NICE));
} catch {
  // Another system, or one that does not.
}
