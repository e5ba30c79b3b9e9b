/** Removals that are remembered: as many as there can be devices. */
const MAX = 10_000;

/** Remembers which devices were forgotten when, up to a limit. */
export class Removals {
  #chipids: { chipid: string; revision: number }[] = [];
  /** Removals up to this revision have been forgotten. */
  #forgotten = -Infinity;

  add(chipid: string, revision: number): void {
    this.#chipids.push({ chipid, revision });
    if (this.#chipids.length <= 2 * MAX) return;
    this.#forgotten = this.#chipids[MAX]?.revision ?? revision;
    this.#chipids = this.#chipids.slice(MAX + 1);
  }

  /** The chip numbers of devices that were forgotten after a revision; undefined if that is too long ago. */
  since(revision: number): string[] | undefined {
    if (revision < this.#forgotten) return undefined;
    const later = this.#chipids.filter((removal) => removal.revision > revision);
    return later.map(({ chipid }) => chipid);
  }
}
