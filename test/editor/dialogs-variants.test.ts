import { variantsIn } from './dialogs';

variantsIn('en-US');
