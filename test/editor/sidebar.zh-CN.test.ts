import { sidebarIn } from './sidebar';

// After the English one, which is the first to open the tab: Node-RED 5 opens it again in the next page.
sidebarIn('zh-CN');
