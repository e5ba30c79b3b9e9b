import type { Node, NodeStatus } from 'node-red';

/** The status of a node, written no more often than an eye can follow, and only when it changes. */
export interface StatusLine {
  /** Shows a status now. */
  show(status: NodeStatus): void;
  /** Shows what the function tells, now, or soon if something was shown just before. */
  change(status: () => NodeStatus): void;
  close(): void;
}

const INTERVAL = 100;

export function createStatusLine(node: Node): StatusLine {
  let shown = '';
  let pending: (() => NodeStatus) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const show = (status: NodeStatus): void => {
    const key = JSON.stringify(status);
    if (closed || key === shown) return;
    shown = key;
    node.status(status);
  };
  const tick = (): void => {
    timer = undefined;
    if (!pending) return;
    const status = pending;
    pending = undefined;
    timer = setTimeout(tick, INTERVAL);
    show(status());
  };

  return {
    show(status) {
      pending = undefined;
      show(status);
    },
    change(status) {
      pending = status;
      if (!timer) tick();
    },
    close() {
      closed = true;
      clearTimeout(timer);
      pending = undefined;
    },
  };
}
