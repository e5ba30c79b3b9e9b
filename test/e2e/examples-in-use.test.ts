import { dashboard } from './examples/dashboard';
import { outside } from './examples/outside';
import { useStage } from './examples/stage';

/** What the tests of the examples in test/flows/ replace: a browser, a database, a broker. */
describe('an example in a real Node-RED', () => {
  const stage = useStage();

  dashboard(stage);
  outside(stage);
});
