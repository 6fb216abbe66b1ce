import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A, B):
        return torch.matmul(A.float(), B.float())

M = 1024
N = 2048
K = 4096

def get_inputs():
    return [torch.randn(M, K).half(), torch.randn(K, N).half()]

def get_init_inputs():
    return []
