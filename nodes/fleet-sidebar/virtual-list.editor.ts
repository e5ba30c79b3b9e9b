/** What a list shows. */
export interface ListOptions<T> {
  /** Height of a row, in pixels. */
  height: number;
  key: (item: T) => string;
  /** An empty row. */
  create: () => HTMLElement;
  /** Fills a row, which may have shown another item before. */
  fill: (row: HTMLElement, item: T) => void;
  onSelect: (key: string | undefined) => void;
  /** Enter, or a double click. */
  onOpen: () => void;
}

/** Rows above and below what is visible, so that none is missing while scrolling. */
const SPARE = 6;

/**
 * A listbox of any number of rows, of which only those exist that can be seen. The focus stays on the list,
 * which tells assistive technology the active row.
 */
export class VirtualList<T> {
  readonly element = document.createElement('div');
  readonly #options: ListOptions<T>;
  readonly #space = document.createElement('div');
  readonly #rows: HTMLElement[] = [];
  #items: readonly T[] = [];
  #selected: string | undefined;
  #frame = 0;

  constructor(options: ListOptions<T>) {
    this.#options = options;
    $(this.element).attr({ role: 'listbox', tabindex: 0, class: 'device-cloud-list' });
    $(this.#space).attr('role', 'presentation').appendTo(this.element);
    const soon = (): void => {
      if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.render());
    };
    this.element.addEventListener('scroll', soon, { passive: true });
    new ResizeObserver(soon).observe(this.element);
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.#space.addEventListener('click', ({ target }) => {
      const row = (target as HTMLElement).closest<HTMLElement>('[role=option]');
      if (row) this.select(row.dataset['key']);
    });
    this.#space.addEventListener('dblclick', () => options.onOpen());
  }

  /** @param items in their order; a selected one that is not among them stays selected */
  show(items: readonly T[]): void {
    this.#items = items;
    this.#space.style.height = `${items.length * this.#options.height}px`;
    this.render();
  }

  select(key: string | undefined): void {
    if (key === this.#selected) return;
    this.#selected = key;
    this.render();
    this.#options.onSelect(key);
  }

  /** Fills the rows that can be seen. */
  render(): void {
    this.#frame = 0;
    const { height, key, create, fill } = this.#options;
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / height) - SPARE);
    const count = clientHeight === 0 ? 0 : Math.ceil(clientHeight / height) + 2 * SPARE;
    const shown = this.#items.slice(first, first + count);
    while (this.#rows.length < shown.length) {
      const row = create();
      row.setAttribute('role', 'option');
      this.#rows.push(row);
      this.#space.append(row);
    }
    for (const row of this.#rows.splice(shown.length)) row.remove();
    let active = '';
    shown.forEach((item, index) => {
      const row = this.#rows[index];
      if (!row) return;
      const isSelected = key(item) === this.#selected;
      row.id = `device-cloud-row-${key(item)}`;
      row.dataset['key'] = key(item);
      row.style.top = `${(first + index) * height}px`;
      row.setAttribute('aria-setsize', String(this.#items.length));
      row.setAttribute('aria-posinset', String(first + index + 1));
      row.setAttribute('aria-selected', String(isSelected));
      if (isSelected) active = row.id;
      fill(row, item);
    });
    if (active === '') this.element.removeAttribute('aria-activedescendant');
    else this.element.setAttribute('aria-activedescendant', active);
  }

  #onKey(event: KeyboardEvent): void {
    const { key, height } = this.#options;
    const page = Math.max(1, Math.floor(this.element.clientHeight / height) - 1);
    const last = this.#items.length - 1;
    const at = this.#items.findIndex((item) => key(item) === this.#selected);
    const targets: Partial<Record<string, number>> = {
      ...{ ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page },
      ...{ Home: 0, End: last },
    };
    const target = targets[event.key];
    if (event.key === 'Enter' && at >= 0) this.#options.onOpen();
    else if (event.key === 'Escape' && this.#selected !== undefined) this.select(undefined);
    else if (target !== undefined && last >= 0) this.#go(Math.min(last, Math.max(0, target)));
    else return;
    // Not for the editor, whose keys move and delete nodes.
    event.preventDefault();
    event.stopPropagation();
  }

  #go(index: number): void {
    const item = this.#items[index];
    if (item === undefined) return;
    const { height, key } = this.#options;
    const { scrollTop, clientHeight } = this.element;
    const lowest = (index + 1) * height - clientHeight;
    if (scrollTop < lowest) this.element.scrollTop = lowest;
    else if (scrollTop > index * height) this.element.scrollTop = index * height;
    this.select(key(item));
  }
}
