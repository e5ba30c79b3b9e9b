import type { Editor } from './browser';

/** Runs in the page: what of the help in the sidebar is cut off or needs scrolling sideways, and its pictures. */
const FIND = `(() => {
  const help = $('.red-ui-help:visible').last()[0];
  const found = new Set();
  const { left, right } = help.getBoundingClientRect();
  for (const picture of help.querySelectorAll('img')) found.add('picture: ' + picture.alt);
  for (let box = help; box && box.id !== 'red-ui-sidebar-content'; box = box.parentElement) {
    if (box.scrollWidth > box.clientWidth + 1) found.add('wider than its place: ' + box.className);
  }
  const walker = document.createTreeWalker(help, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.data.trim() === '') continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.left < left - 1 || rect.right > right + 1) found.add('outside: ' + node.data.trim());
    }
  }
  return help.clientWidth < 200 ? ['the sidebar is closed'] : [...found];
})()`;

/** What does not fit in the help that the sidebar shows, at the width it has. */
export async function helpMisfits({ run }: Editor): Promise<string[]> {
  await run('document.fonts.ready.then(() => undefined)');
  return run(FIND);
}
