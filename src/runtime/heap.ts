/** An entry of a {@link Heap}; keep it to remove the value later. */
export interface HeapNode<T> {
  readonly value: T;
  readonly at: number;
}

/** Values in the order of a number, equal numbers in the order they were added. Adding and removing cost O(log n). */
export interface Heap<T> {
  push(at: number, value: T): HeapNode<T>;
  peek(): HeapNode<T> | undefined;
  pop(): HeapNode<T> | undefined;
  /** Takes a node out wherever it is; does nothing when it is out already. */
  remove(node: HeapNode<T>): void;
  size(): number;
}

interface Placed<T> extends HeapNode<T> {
  readonly serial: number;
  /** Position in the array, −1 when out. Known, so that cancelling needs no search and leaves no corpse behind. */
  index: number;
}

/** Creates an empty binary heap, the smallest number first. */
export function createHeap<T>(): Heap<T> {
  const nodes: Placed<T>[] = [];
  let added = 0;

  const put = (node: Placed<T>, index: number): void => {
    nodes[index] = node;
    node.index = index;
  };
  const rise = (node: Placed<T>): void => {
    let index = node.index;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = nodes[parentIndex];
      if (parent === undefined || !isBefore(node, parent)) break;
      put(parent, index);
      index = parentIndex;
    }
    put(node, index);
  };
  const sink = (node: Placed<T>): void => {
    let index = node.index;
    for (;;) {
      const [left, right] = [nodes[2 * index + 1], nodes[2 * index + 2]];
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, node)) break;
      const childIndex = child.index;
      put(child, index);
      index = childIndex;
    }
    put(node, index);
  };
  const remove = (node: HeapNode<T>): void => {
    const { index } = node as Placed<T>;
    if (index < 0 || nodes[index] !== node) return;
    (node as Placed<T>).index = -1;
    const last = nodes.pop();
    if (last === undefined || last === node) return;
    put(last, index);
    rise(last);
    sink(last);
  };

  return {
    push(at, value) {
      added += 1;
      const node: Placed<T> = { at, value, serial: added, index: nodes.length };
      nodes.push(node);
      rise(node);
      return node;
    },
    peek: () => nodes[0],
    pop() {
      const first = nodes[0];
      if (first !== undefined) remove(first);
      return first;
    },
    remove,
    size: () => nodes.length,
  };
}

function isBefore(a: Placed<unknown>, b: Placed<unknown>): boolean {
  return a.at < b.at || (a.at === b.at && a.serial < b.serial);
}
