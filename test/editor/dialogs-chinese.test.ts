import { dialogsIn, variantsIn } from './dialogs';

dialogsIn('zh-CN');
variantsIn('zh-CN');
