/** The most positions in one command. */
const MOST = 500;

interface Asked {
  chipid: string;
  resolve: (position: string | undefined) => void;
  reject: (error: unknown) => void;
}

/** Combines the requests of one turn, since a process that takes over a share requests all its positions at once. */
export class PositionLoader {
  private asked: Asked[] = [];

  constructor(
    private readonly load: (chipids: readonly string[]) => Promise<(string | undefined)[]>,
  ) {}

  /** @throws StoreError */
  get(chipid: string): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) queueMicrotask(() => void this.loadAll());
      this.asked.push({ chipid, resolve, reject });
    });
  }

  private async loadAll(): Promise<void> {
    const asked = this.asked.splice(0);
    for (let first = 0; first < asked.length; first += MOST) {
      const part = asked.slice(first, first + MOST);
      try {
        const positions = await this.load(part.map(({ chipid }) => chipid));
        for (const [index, { resolve }] of part.entries()) resolve(positions[index]);
      } catch (error) {
        for (const { reject } of part) reject(error);
      }
    }
  }
}
