import { dialogsIn } from './dialogs';

dialogsIn('en-US');
