import { dashboard } from './examples/dashboard';
import { mqtt } from './examples/mqtt';
import { outside } from './examples/outside';
import { useStage } from './examples/stage';

/** What the tests of the examples in test/flows/ replace: a browser, a database, a broker. */
describe('an example in a real Node-RED', () => {
  const stage = useStage();

  dashboard(stage);
  mqtt(stage);
  outside(stage);
});
