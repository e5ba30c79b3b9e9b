import { dialogsIn } from './dialogs';

dialogsIn('zh-CN');
