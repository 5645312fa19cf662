import{a,b,c}from"./chunk-L2LWKFEW.js";import"./chunk-VDNM74I5.js";import"./chunk-KVMWMBMZ.js";import"./chunk-SQE76S5B.js";export{b as Change,c as Changes,a as whole};
