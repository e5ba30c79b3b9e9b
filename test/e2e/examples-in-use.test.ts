import { commands } from './examples/commands';
import { cookbook } from './examples/cookbook';
import { dashboard } from './examples/dashboard';
import { errors } from './examples/errors';
import { filesAndDatabases } from './examples/files-and-databases';
import { fleet } from './examples/fleet';
import { latest } from './examples/latest';
import { lists } from './examples/lists';
import { mqtt } from './examples/mqtt';
import { presence } from './examples/presence';
import { retry } from './examples/retry';
import { silentDevices } from './examples/silent-devices';
import { uploads } from './examples/uploads';
import { useStage } from './examples/stage';

describe('an example in a real Node-RED', () => {
  const stage = useStage();

  uploads(stage);
  dashboard(stage);
  commands(stage);
  retry(stage);
  errors(stage);
  latest(stage);
  lists(stage);
  filesAndDatabases(stage);
  silentDevices(stage);
  mqtt(stage);
  presence(stage);
  fleet(stage);
  cookbook(stage);
});
