import { sidebarIn } from './sidebar';

sidebarIn('zh-CN');
