/**
 * The rows of a list that exist. One that stays in view keeps its element, so that scrolling by a row fills one row;
 * those that leave are used for those that come.
 */
export class RowPool {
  readonly #parent: HTMLElement;
  readonly #create: () => HTMLElement;
  #rows = new Map<string, HTMLElement>();
  readonly #keys = new WeakMap<HTMLElement, string>();

  /** @param create makes an empty row */
  constructor(parent: HTMLElement, create: () => HTMLElement) {
    this.#parent = parent;
    this.#create = create;
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  /** What a row shows. */
  keyOf(row: HTMLElement): string | undefined {
    return this.#keys.get(row);
  }

  /** Rows for these keys, in this order on the page, too: a screen reader reads them so. */
  rowsFor(keys: readonly string[]): HTMLElement[] {
    const wanted = new Set(keys);
    const free: HTMLElement[] = [];
    for (const [key, row] of this.#rows) if (!wanted.has(key)) free.push(row);
    for (const row of free) row.remove();
    const rows = keys.map((key) => this.#rows.get(key) ?? free.pop() ?? this.#newRow());
    let next = this.#parent.firstElementChild;
    rows.forEach((row, index) => {
      this.#keys.set(row, keys[index] ?? '');
      if (row === next) next = row.nextElementSibling;
      else this.#parent.insertBefore(row, next);
    });
    this.#rows = new Map(rows.map((row, index) => [keys[index] ?? '', row]));
    return rows;
  }

  #newRow(): HTMLElement {
    const row = this.#create();
    row.setAttribute('role', 'option');
    return row;
  }
}
