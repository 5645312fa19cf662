import{a,b,c}from"./chunk-O67OBSJP.js";import"./chunk-A25RMXBP.js";import"./chunk-QHARKHDY.js";import"./chunk-SQE76S5B.js";export{b as Change,c as Changes,a as whole};
