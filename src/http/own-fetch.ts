/*
 * Imported before undici, which otherwise makes its own connections those of every `fetch` in the process: of function nodes
 * and other packages, too. Node.js sets up its own as soon as one of the classes is looked at, which takes 20 ms.
 */
void globalThis.Headers;
