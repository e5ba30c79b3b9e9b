import { MemoryStore } from './memory-store';
import { storeContract } from './store-contract';

describe('a store in memory', () => {
  storeContract(() => {
    const store = new MemoryStore();
    return {
      store,
      wipe() {
        store.wipe();
        return Promise.resolve();
      },
    };
  });
});
