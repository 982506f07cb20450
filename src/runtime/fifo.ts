/** First in, first out, O(1) at both ends. `Array.shift` moves every element, and a `Set` walks over what was deleted before. */
export interface Fifo<T> {
  push(value: T): void;
  shift(): T | undefined;
  peek(): T | undefined;
  size(): number;
}

const COMPACT_FROM = 1024;

/** Creates an empty line. */
export function createFifo<T>(): Fifo<T> {
  let values: (T | undefined)[] = [];
  let head = 0;
  return {
    push: (value) => void values.push(value),
    shift() {
      if (head === values.length) return undefined;
      const value = values[head];
      values[head] = undefined;
      head += 1;
      // Dropping the used half at most every `head` steps costs each element one copy.
      if (head >= COMPACT_FROM && head * 2 >= values.length) {
        values = values.slice(head);
        head = 0;
      }
      return value;
    },
    peek: () => values[head],
    size: () => values.length - head,
  };
}
